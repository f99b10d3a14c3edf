import { isOffered } from './schema.js';

const ours = new WeakSet();

/** Leaves out of what the query editor completes the fields that the visitor's key may not use; the docs show them. */
export function offerOnly(editor) {
  const hints = editor?.constructor.hint;
  const original = hints?.graphql;
  if (!original || ours.has(original)) return;
  hints.graphql = (...given) => {
    const found = original(...given);
    // the same object: GraphiQL's panel of descriptions listens to it
    if (found) found.list = found.list.filter(({ description }) => isOffered(description));
    return found;
  };
  ours.add(hints.graphql);
}
