/* Plugins of Swagger UI for the answers of an operation. */

/** Shows each error as a line with links to its codes, instead of the same schema and example every time. */
export const errorsInOneLine = ({ React: { createElement } }) => ({
  wrapComponents: {
    response: (Original) =>
      function Response(props) {
        const { code, response } = props;
        if (Number(code) < 300) return createElement(Original, props);
        const { description = '', content = {} } = response.toJS();
        const examples = Object.values(content).flatMap(({ examples = {} }) => Object.values(examples));
        const codes = examples.map(({ value }) => value);
        return createElement(
          'tr',
          { className: 'response error', 'data-code': code },
          createElement('td', { className: 'response-col_status' }, code),
          createElement(
            'td',
            { className: 'response-col_description' },
            codes.length === 0
              ? createElement('p', null, description)
              : codes.map((problem) =>
                  createElement(
                    'p',
                    { key: problem.code },
                    createElement('a', { href: problem.type }, problem.code),
                    ` ${problem.title}`,
                  ),
                ),
          ),
        );
      },
  },
});

/** Folds the headers of an answer. */
export const headersOnRequest = ({ React: { createElement } }) => ({
  wrapComponents: {
    headers: (Original) =>
      function Headers(props) {
        if (!props.headers?.size) return null;
        return createElement(
          'details',
          { className: 'answer-headers' },
          createElement('summary', null, `${String(props.headers.size)} headers`),
          createElement(Original, props),
        );
      },
  },
});

const UNREACHABLE = 'The gateway cannot be reached. Check your connection, then execute this again.';

/** Says so if the gateway cannot be reached, where Swagger UI guesses at CORS, and that no answer is not documented. */
export const unreachableInWords = ({ React: { createElement } }) => ({
  statePlugins: {
    spec: {
      wrapActions: {
        setResponse: (original) => (path, method, answer) => {
          const isUnreachable = answer.error && !answer.err?.response;
          return original(
            path,
            method,
            isUnreachable ? { error: true, err: { name: '', message: UNREACHABLE } } : answer,
          );
        },
      },
    },
  },
  wrapComponents: {
    liveResponse: (Original) =>
      function LiveResponse(props) {
        const { response } = props;
        if (response.get('message') !== UNREACHABLE) return createElement(Original, props);
        return createElement(Original, { ...props, response: response.set('notDocumented', false) });
      },
  },
});
