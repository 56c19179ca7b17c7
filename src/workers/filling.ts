/** A buffer and how much of it holds the file: nothing at its end. */
export interface Filled {
  buffer: ArrayBuffer
  length: number
}

/** Answers buffers filled with what follows in the file, the same ones where the browser can do that. */
export function openFilling(file: Blob): (buffer: ArrayBuffer) => Promise<Filled> {
  try {
    const reader = file.stream().getReader({ mode: 'byob' })
    return buffer => fillFrom(reader, buffer)
  } catch {
    return slicesOf(file) // streams of files fill no buffers here
  }
}

async function fillFrom(reader: ReadableStreamBYOBReader, into: ArrayBuffer): Promise<Filled> {
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

function slicesOf(file: Blob): (buffer: ArrayBuffer) => Promise<Filled> {
  let at = 0
  return async ({ byteLength }) => {
    const buffer = await file.slice(at, at + byteLength).arrayBuffer()
    at += buffer.byteLength
    return { buffer, length: buffer.byteLength }
  }
}
