import type { Transform } from '../contract/deposits.ts'
import { reduceAboveBytes } from '../contract/limits.ts'
import type { ReducedPicture } from './image.ts'
import { type AskOptions, createPool } from './pool.ts'

/** Names the way of reducing; another scaler or encoder setting takes another number. */
const tool = 'vidimus/1 canvas'

export interface Reduction {
  blob: Blob
  transform: Transform
}

/**
 * Whether a reduced copy is tried: of every picture that is large enough, except drawings, which have no
 * pixels. What the browser cannot decode, and animations, go unchanged.
 */
export function isReducible({ size, type }: Pick<Blob, 'size' | 'type'>): boolean {
  return size > reduceAboveBytes && type.startsWith('image/') && !type.startsWith('image/svg')
}

/** One picture at a time: a decoded one takes four bytes per pixel. */
const askWorker = createPool<Blob, ReducedPicture | undefined>(
  1,
  () => new Worker(new URL('./image.ts', import.meta.url), { type: 'module' })
)

/** The reduced JPEG and how it was made; nothing for files that go unchanged. */
export async function reducePicture(
  file: Blob,
  options: AskOptions = {}
): Promise<Reduction | undefined> {
  if (!isReducible(file)) return undefined
  const reduced = await askWorker(file, options)
  if (!reduced) return undefined
  const { blob, from, to } = reduced
  return {
    blob,
    transform: {
      kind: 'image-recompress',
      quality: 70,
      tool,
      from: { bytes: file.size, ...from, type: file.type },
      to: { bytes: blob.size, ...to, type: blob.type }
    }
  }
}
