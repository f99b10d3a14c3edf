/*
 * Swagger UI plugins that fit it into our page: which of its parts are shown, and which operations are open (links.js opens them). The key is
 * entered in our form, and the only server is this gateway.
 */

export const withoutItsOwnBars = ({ getSystem, React: { createElement } }) => ({
  components: {
    OurLayout: () => {
      const { getComponent } = getSystem();
      return createElement(
        'div',
        { className: 'swagger-ui' },
        createElement(getComponent('SvgAssets')),
        createElement('div', { className: 'wrapper' }, createElement(getComponent('InfoContainer', true))),
        createElement('div', { className: 'wrapper' }, createElement(getComponent('operations', true))),
        createElement('div', { className: 'wrapper' }, createElement(getComponent('Models', true))),
      );
    },
  },
  wrapComponents: { authorizeOperationBtn: () => () => null },
});

/** Calls `onOpen` with the ids of the open operations after each change, and keeps the last one in the fragment. */
export const tellsWhatIsOpen = (onOpen) => () => {
  const open = new Set();
  return {
    statePlugins: {
      layout: {
        wrapActions: {
          show: (original) => (thing, isShown) => {
            const [kind, tag, id] = [thing].flat();
            if (kind === 'operations' && id !== undefined) {
              if (isShown) open.add(id);
              else open.delete(id);
              keepLink(`#/${tag}/${id}`, isShown);
              onOpen(open);
            }
            return original(thing, isShown);
          },
        },
      },
    },
  };
};

function keepLink(link, isShown) {
  if (isShown && location.hash !== link) history.pushState(null, '', link);
  if (!isShown && location.hash === link) history.replaceState(null, '', location.pathname);
}
