/** The part of Jest's reporter interface that is used. */
export default class ProgressReporter {
  onRunStart(results: { readonly numTotalTestSuites: number }): void;
  onTestFileStart(test: { readonly path: string }): void;
  onTestFileResult(
    test: { readonly path: string },
    result: { readonly numPassingTests: number; readonly numFailingTests: number },
  ): void;
  onRunComplete(contexts: ReadonlySet<{ readonly config: { readonly displayName: { readonly name: string } } }>): void;
}
