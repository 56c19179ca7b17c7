/** `length` is 0 at the end of the file. */
export interface FilledBuffer {
  buffer: ArrayBuffer
  length: number
}

/** If the browser cannot read into an existing buffer, the function returns a new one. */
export function createBufferFiller(file: Blob): (buffer: ArrayBuffer) => Promise<FilledBuffer> {
  try {
    const reader = file.stream().getReader({ mode: 'byob' })
    return buffer => fillFrom(reader, buffer)
  } catch {
    return slicesOf(file) // this browser cannot read into a given buffer
  }
}

async function fillFrom(
  reader: ReadableStreamBYOBReader,
  into: ArrayBuffer
): Promise<FilledBuffer> {
  let buffer = into
  let length = 0
  while (length < buffer.byteLength) {
    const { done, value } = await reader.read(new Uint8Array(buffer, length))
    if (value) buffer = value.buffer
    if (done) break
    length += value.length
  }
  return { buffer, length }
}

function slicesOf(file: Blob): (buffer: ArrayBuffer) => Promise<FilledBuffer> {
  let at = 0
  return async ({ byteLength }) => {
    const buffer = await file.slice(at, at + byteLength).arrayBuffer()
    at += buffer.byteLength
    return { buffer, length: buffer.byteLength }
  }
}
