/** An invoice is due on the day it was made, or later. */
export const Invoice = ({ due_on, created_at }, { fault }) => {
  if (due_on !== null && due_on < created_at.slice(0, 10)) fault('/due_on', 'must not be before created_at');
};
