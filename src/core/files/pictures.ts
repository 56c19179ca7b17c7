type Bytes = Uint8Array

export interface PixelSize {
  w: number
  h: number
}

/**
 * Returns false for animations, several pages and photos with a video, of which a reduced copy
 * would contain only the first picture.
 */
export function isStillPicture(bytes: Bytes): boolean {
  if (textAt(bytes, 0, 3) === 'GIF') return countGifFrames(bytes) < 2
  if (textAt(bytes, 1, 3) === 'PNG') return !isAnimatedPng(bytes)
  if (textAt(bytes, 0, 4) === 'RIFF') return !isAnimatedWebp(bytes)
  if (textAt(bytes, 4, 4) === 'ftyp') return !isSequence(bytes) && !hasBox(bytes, 'mpvd')
  if (bytes[0] === 0xff && bytes[1] === 0xd8) return !hasAppendedVideo(bytes)
  if (textAt(bytes, 0, 4) === 'II*\0') return !hasSecondPage(bytes, true)
  if (textAt(bytes, 0, 4) === 'MM\0*') return !hasSecondPage(bytes, false)
  return true
}

/** Returns whether a picture is transparent somewhere and white elsewhere. */
export function vanishesOnWhite(pixels: Uint8ClampedArray): boolean {
  let [transparent, visible, white] = [0, 0, 0]
  for (let at = 0; at < pixels.length; at += 4) {
    const [red = 0, green = 0, blue = 0, opacity = 0] = pixels.subarray(at, at + 4)
    if (opacity < 128) transparent++
    else {
      visible++
      if (Math.min(red, green, blue) > 235) white++
    }
  }
  return transparent > 0.01 * (transparent + visible) && white > 0.01 * visible
}

/** Keeps the ratio and never enlarges: 4000 × 3000 in 600 × 600 → 600 × 450 */
export function shrinkToFit(size: PixelSize, box: PixelSize): PixelSize {
  const scale = Math.min(1, box.w / size.w, box.h / size.h)
  return { w: scaled(size.w, scale), h: scaled(size.h, scale) }
}

// one image descriptor per frame; stops at two
function countGifFrames(bytes: Bytes): number {
  const skipBlocks = (from: number) => {
    let at = from
    while (at < bytes.length && bytes[at] !== 0) at += 1 + (bytes[at] ?? 0)
    return at + 1
  }
  const tableBytes = (flags: number) => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0)
  let at = 13 + tableBytes(bytes[10] ?? 0)
  let frames = 0
  while (at < bytes.length && frames < 2) {
    const kind = bytes[at]
    if (kind === 0x21) at = skipBlocks(at + 2)
    else if (kind === 0x2c) {
      frames += 1
      at = skipBlocks(at + 11 + tableBytes(bytes[at + 9] ?? 0))
    } else break
  }
  return frames
}

// has the chunk `acTL` before its image data
function isAnimatedPng(bytes: Bytes): boolean {
  for (let at = 8; at + 8 <= bytes.length; at += 12 + numberAt(bytes, at, 4, false)) {
    const name = textAt(bytes, at + 4, 4)
    if (name === 'acTL') return true
    if (name === 'IDAT') return false
  }
  return false
}

function isAnimatedWebp(bytes: Bytes): boolean {
  return textAt(bytes, 12, 4) === 'VP8X' && ((bytes[20] ?? 0) & 2) !== 0
}

// by the major brand of AVIF and HEIC
function isSequence(bytes: Bytes): boolean {
  return ['avis', 'msf1', 'hevc'].includes(textAt(bytes, 8, 4))
}

function hasBox(bytes: Bytes, name: string): boolean {
  for (let at = 0; at + 8 <= bytes.length; ) {
    if (textAt(bytes, at + 4, 4) === name) return true
    const size = numberAt(bytes, at, 4, false)
    // 1: the size is in the eight bytes after the name
    at += size === 1 ? numberAt(bytes, at + 8, 8, false) : Math.max(size, 8)
  }
  return false
}

// Phones append the video of a motion photo to its JPEG. An MP4 begins with the box `ftyp`.
function hasAppendedVideo(bytes: Bytes): boolean {
  const f = 0x66
  for (let at = bytes.indexOf(f); at >= 0; at = bytes.indexOf(f, at + 1)) {
    if (textAt(bytes, at, 4) !== 'ftyp') continue
    const size = numberAt(bytes, at - 4, 4, false)
    if (size >= 16 && size <= 256 && /^[\w ]{4}$/.test(textAt(bytes, at + 4, 4))) return true
  }
  return false
}

// the first directory points at another one
function hasSecondPage(bytes: Bytes, littleEndian: boolean): boolean {
  const first = numberAt(bytes, 4, 4, littleEndian)
  const entries = numberAt(bytes, first, 2, littleEndian)
  return numberAt(bytes, first + 2 + 12 * entries, 4, littleEndian) !== 0
}

function numberAt(bytes: Bytes, at: number, length: number, littleEndian: boolean): number {
  const digits = [...bytes.subarray(at, at + length)]
  if (littleEndian) digits.reverse()
  return digits.reduce((number, byte) => number * 256 + byte, 0)
}

function textAt(bytes: Bytes, at: number, length: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + length))
}

function scaled(length: number, scale: number): number {
  return Math.max(1, Math.round(length * scale))
}
