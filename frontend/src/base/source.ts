/** Source of answers: the backend that serves this page, or recorded files beside the page. */

let files: URL | null = null;

/** Read answers from files below an address; called before the first request. */
export function readFilesBelow(address: string): void {
  files = new URL(address, document.baseURI);
}

/** False if answers are files: nothing can be changed, and other runs and pages do not exist. */
export function hasBackend(): boolean {
  return files === null;
}

/** Address of an answer in JSON. The query is the backend's to read: a file holds one answer. */
export function answerHref(path: string): string {
  return files === null ? `/api/v1${path}` : fileHref(files, `${path.replace(/\?.*$/, "")}.json`);
}

/** Address of an answer in bytes, without a query; a file of one is compressed. */
export function bytesHref(path: string): string {
  return files === null ? `/api/v1${path}` : fileHref(files, `${path}.gzip`);
}

function fileHref(below: URL, path: string): string {
  return new URL(path.replace(/^\//, ""), below).href;
}
