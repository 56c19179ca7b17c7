export interface PixelSize {
  w: number
  h: number
}

/** Keeps the ratio and never enlarges: 4000 × 3000 in 600 × 600 → 600 × 450 */
export function shrinkToFit(size: PixelSize, box: PixelSize): PixelSize {
  const scale = Math.min(1, box.w / size.w, box.h / size.h)
  return { w: scaled(size.w, scale), h: scaled(size.h, scale) }
}

function scaled(length: number, scale: number): number {
  return Math.max(1, Math.round(length * scale))
}
