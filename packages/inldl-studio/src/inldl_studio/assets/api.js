// Talking to the studio. The address of the page holds its token, so paths are relative to it.

export class Problem extends Error {
  constructor(text, status) {
    super(text);
    this.status = status;
  }
}

const AWAY = "The studio does not answer; it may have ended. Start inldl studio again, and open the address that it prints.";

export async function request(method, path, body, signal) {
  let response;
  try {
    response = await fetch(`api/${path}`, {
      method,
      signal,
      headers: body ? { "content-type": "application/json" } : {},
      body: body ? JSON.stringify(body) : undefined,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(AWAY, 0);
  }
  return read(response.status, await response.text());
}

function read(status, text) {
  let data = {};
  try {
    data = JSON.parse(text);
  } catch {
    data = { error: text };
  }
  if (status >= 400 || !status) throw new Problem(data.error || AWAY, status);
  return data;
}

// Sends a file as it is; `progress` is called with the share that was sent.
export function send(path, file, progress) {
  const sending = new XMLHttpRequest();
  const done = new Promise((resolve, reject) => {
    sending.open("POST", `api/${path}?name=${encodeURIComponent(file.name)}`);
    sending.upload.addEventListener("progress", (event) => progress(event.loaded / event.total));
    sending.addEventListener("load", () => {
      try {
        resolve(read(sending.status, sending.responseText));
      } catch (error) {
        reject(error);
      }
    });
    sending.addEventListener("error", () => reject(new Problem(AWAY, 0)));
    sending.addEventListener("abort", () => reject(new Problem("Stopped.", 0)));
    sending.send(file);
  });
  return { done, stop: () => sending.abort() };
}
