/** Asks in a dialog whether to send the example of a write, which would change the data of the key's organisation; closing it is a no. */
export function agrees(method: string, path: string): Promise<boolean> {
  const dialog = document.createElement('dialog');
  dialog.className = 'ask';
  dialog.setAttribute('aria-labelledby', 'ask-title');
  dialog.innerHTML = `<form method="dialog">
    <h2 id="ask-title">Send the example?</h2>
    <p><code></code> changes the data of your key’s organisation, and the body is still the example.</p>
    <p class="ask-buttons">
      <button class="button" value="no" autofocus>Cancel</button>
      <button class="button primary" value="yes">Send the example</button>
    </p>
  </form>`;
  dialog.querySelector('code')?.append(`${method.toUpperCase()} ${path}`);
  document.getElementById('content')?.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'yes');
    });
  });
}
