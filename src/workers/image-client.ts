import type { Transform } from '../contract/deposits.ts'
import { reduceAboveBytes } from '../contract/limits.ts'
import type { ReducedPicture } from './image.ts'
import { type AskOptions, createPool } from './pool.ts'

/** Names how a picture was reduced. Another scaler or encoder setting gets another number. */
const tool = 'vidimus/1 canvas'

export interface Reduction {
  blob: Blob
  transform: Transform
}

/**
 * Returns whether to try a reduced copy: for every large enough picture except drawings, which have
 * no pixels. Animations and pictures that the browser cannot decode stay unchanged.
 */
export function isReducible({ size, type }: Pick<Blob, 'size' | 'type'>): boolean {
  return size > reduceAboveBytes && type.startsWith('image/') && !type.startsWith('image/svg')
}

/** Reduces one picture at a time, because a decoded one takes four bytes per pixel. */
const askWorker = createPool<Blob, ReducedPicture | undefined>(
  1,
  () => new Worker(new URL('./image.ts', import.meta.url), { type: 'module' })
)

/** Returns the reduced JPEG and how it was made, or undefined for a file that stays unchanged. */
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
