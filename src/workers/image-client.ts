import type { PictureTransform } from '../contract/deposits.ts'
import { pictureReductionThresholdBytes } from '../contract/kit/limits.ts'
import type { ReducedPicture } from './image.ts'
import { createPool, type WorkerTaskOptions } from './pool.ts'

// Stored with each reduced picture. Increment the version with every change of the scaler or the
// encoder's settings.
const tool = 'vidimus/1 canvas'

export interface ReducedPictureWithTransform {
  blob: Blob
  transform: PictureTransform
}

/** A picture of more than 1,000,000 bytes that is not a vector drawing. */
export function isReduciblePicture({ size, type }: Pick<Blob, 'size' | 'type'>): boolean {
  return (
    size > pictureReductionThresholdBytes &&
    type.startsWith('image/') &&
    !type.startsWith('image/svg')
  )
}

// one at a time, because a decoded picture takes four bytes of memory per pixel
const askWorker = createPool<Blob, ReducedPicture | undefined>(
  1,
  () => new Worker(new URL('./image.ts', import.meta.url), { type: 'module' })
)

/** Undefined for a file that has to be deposited unchanged. */
export async function reducePicture(
  file: Blob,
  options: WorkerTaskOptions = {}
): Promise<ReducedPictureWithTransform | undefined> {
  if (!isReduciblePicture(file)) return undefined
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
