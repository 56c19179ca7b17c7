import type { Transform } from '../contract/deposits.ts'
import { reduceAboveBytes } from '../contract/limits.ts'
import type { ReducedPicture } from './image.ts'
import { createPool, type TaskOptions } from './pool.ts'

/**
 * Identifies how a picture was reduced. A different scaler or encoder setting needs a new number.
 */
const tool = 'vidimus/1 canvas'

export interface Reduction {
  blob: Blob
  transform: Transform
}

/**
 * Returns whether to try to reduce a file: every picture that is large enough, except vector
 * drawings. Animations and pictures that the browser cannot decode then stay unchanged.
 */
export function isReducible({ size, type }: Pick<Blob, 'size' | 'type'>): boolean {
  return size > reduceAboveBytes && type.startsWith('image/') && !type.startsWith('image/svg')
}

/**
 * Reduces one picture at a time, because a decoded picture takes four bytes of memory per pixel.
 */
const askWorker = createPool<Blob, ReducedPicture | undefined>(
  1,
  () => new Worker(new URL('./image.ts', import.meta.url), { type: 'module' })
)

/**
 * Returns the reduced JPEG and how it was reduced, or undefined for a file that is deposited
 * unchanged.
 */
export async function reducePicture(
  file: Blob,
  options: TaskOptions = {}
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
