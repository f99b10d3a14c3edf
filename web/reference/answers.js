/* Plugins of Swagger UI for the answers of an operation. */

/** Shows each error as a line with links to its codes, instead of the same schema and example every time. */
export const errorsInOneLine = ({ React: { createElement }, getComponent }) => ({
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
              ? createElement(getComponent('Markdown', true), { source: description })
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

/** Folds the documented responses. The answer to a request is in the column. */
export const responsesOnRequest = ({ React: { createElement } }) => ({
  wrapComponents: {
    responses: (Original) =>
      function Responses(props) {
        const codes = props.responses.keySeq().toArray();
        return createElement(
          'details',
          { className: 'documented' },
          createElement('summary', null, 'Responses ', createElement('code', null, codes.join(' '))),
          createElement(Original, { ...props, tryItOutResponse: undefined }),
        );
      },
  },
});
