import { useEffect, useRef, useState } from 'react'
import { drawSeal, type SealState } from '../../core/evidence/seal-drawing.ts'

interface SealProps {
  state: SealState
  /** Undefined if the drawing is only decorative. */
  label?: string
  className?: string
  /** Draws 16 ticks instead of 64, and thicker lines. */
  small?: boolean
}

const easing = 'cubic-bezier(.2,0,0,1)'

export function AnimatedSeal({ state, label, className, small }: SealProps) {
  const root = useRef<SVGSVGElement>(null)
  const before = useRef(state.kind)
  const [growing, setGrowing] = useState(false)
  const { ticks, ring, mark, tone } = drawSeal(state, small ? 16 : 64)

  useEffect(() => {
    const wasOpen = before.current !== 'sealed'
    before.current = state.kind
    if (state.kind === 'sealed' && wasOpen && !prefersStillness()) setGrowing(true)
  }, [state.kind])

  useEffect(() => {
    const svg = root.current
    if (!svg || !growing) return
    const pressed = press(svg)
    pressed.onfinish = () => setGrowing(false)
    return () => pressed.cancel()
  }, [growing])

  useEffect(() => {
    const svg = root.current
    if (!svg || state.kind !== 'recording' || prefersStillness()) return
    const pulse = svg.animate([{ opacity: 1 }, { opacity: 0.45 }, { opacity: 1 }], {
      duration: 1200,
      iterations: Number.POSITIVE_INFINITY
    })
    return () => pulse.cancel()
  }, [state.kind])

  return (
    <svg
      ref={root}
      viewBox="0 0 100 100"
      role="img"
      aria-label={label}
      aria-hidden={label === undefined}
      className={`shrink-0 ${tone === 'wax' ? 'text-primary' : 'text-ink-soft'} ${className ?? 'size-12'}`}
      fill="none"
      stroke="currentColor"
      strokeWidth={small ? 4 : 2}
      strokeLinecap="round"
      strokeLinejoin="round"
      data-seal={state.kind}
    >
      {growing ? (
        ticks.map(tick => <path key={tick} d={tick} pathLength={1} strokeDasharray="1" data-tick />)
      ) : (
        // one path for all ticks: a list of a thousand deposits would otherwise have 64,000
        // elements
        <path d={ticks.join('')} />
      )}
      {state.kind !== 'idle' && <path d={ring.track} opacity={0.25} />}
      {ring.filled && <path d={ring.filled} strokeWidth={small ? 6 : 4} />}
      {mark && <path d={mark} pathLength={1} strokeDasharray="1" strokeWidth={6} data-mark />}
    </svg>
  )
}

// ticks grow clockwise, then the check mark, and the seal sinks like a stamp
function press(svg: SVGSVGElement): Animation {
  const grow = [{ strokeDashoffset: 1 }, { strokeDashoffset: 0 }]
  svg.querySelectorAll('[data-tick]').forEach((tick, index) => {
    tick.animate(grow, { duration: 420, delay: 4 * index, easing, fill: 'backwards' })
  })
  const grown = 420 + 4 * 64
  const mark = svg.querySelector('[data-mark]')
  mark?.animate(grow, { duration: 240, delay: grown, easing, fill: 'backwards' })
  return svg.animate(
    [{ transform: 'scale(1)' }, { transform: 'scale(.96)' }, { transform: 'scale(1)' }],
    { duration: 180, delay: grown + 240, easing }
  )
}

export function prefersStillness(): boolean {
  return matchMedia('(prefers-reduced-motion: reduce)').matches
}
