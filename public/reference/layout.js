/*
 * Plugins of Swagger UI for its place in our page: what it shows of itself, and which operations are open. The key is typed in our form, and the
 * only server is this gateway.
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

/** Calls `onOpen` with the ids of the operations that are open, after each change, and keeps the last one in the fragment. */
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

/** Opens the operation that the fragment names, if it names one of these, and brings it into view. */
export function openLinked({ layoutActions }, operations) {
  const linked = operations.find(({ tag, id }) => location.hash === `#/${tag}/${id}`);
  if (!linked) return;
  const { tag, id } = linked;
  layoutActions.show(['operations-tag', tag], true);
  layoutActions.show(['operations', tag, id], true);
  whenDrawn(`#operations-${tag}-${id} .opblock-body`, (body) => {
    const operation = body.closest('.opblock');
    operation.scrollIntoView();
    operation.querySelector('.opblock-summary-control').focus({ preventScroll: true });
  });
}

function whenDrawn(selector, work) {
  const look = () => {
    const found = document.querySelector(selector);
    if (!found) return;
    observer.disconnect();
    work(found);
  };
  const observer = new MutationObserver(look);
  observer.observe(document.getElementById('reference'), { subtree: true, childList: true });
  look();
}
