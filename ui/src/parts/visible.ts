// Text of strangers made safe for the eye: what would turn the direction of letters or hide itself is shown as a box (T052).

const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g
// What joins emoji and letters of some scripts must stay.
const JOINERS = /[\u200c\u200d]/

export function visible(text: string): string {
  return text.replace(UNSEEN, (letter) => (JOINERS.test(letter) ? letter : '▯'))
}

/** A host as it is looked up: scripts that mix are shown as ASCII, as browsers do. */
export function host(url: string): string {
  try {
    return new URL(url).host
  } catch {
    return ''
  }
}
