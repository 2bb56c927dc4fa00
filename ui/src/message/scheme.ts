// Whether this browser tells a framed document the `color-scheme` of its frame, which is how a mail learns that it is dark. Tried once.

let known: boolean | undefined

export function passesScheme(): boolean {
  known ??= tried()
  return known
}

function tried(): boolean {
  const frame = document.createElement('iframe')
  frame.className = 'unseen'
  frame.tabIndex = -1
  document.body.append(frame)
  const told = (scheme: 'light' | 'dark') => {
    frame.style.colorScheme = scheme
    // Firefox passes it on when the frame is laid out.
    frame.getBoundingClientRect()
    return frame.contentWindow?.matchMedia(`(prefers-color-scheme: ${scheme})`).matches === true
  }
  const passes = told('dark') && told('light')
  frame.remove()
  return passes
}
