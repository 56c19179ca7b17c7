import { onClick } from './kit/page.ts'

const scrollMs = 300

/** So that people see where on the page the target is. */
export function startSmoothScroll(): void {
  onClick('a[href^="#"]:not(.skip-link)', (link, event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return
    const { hash } = new URL((link as HTMLAnchorElement).href) // as: the selector names anchors
    const target = document.getElementById(decodeURIComponent(hash.slice(1)))
    if (!target || matchMedia('(prefers-reduced-motion: reduce)').matches) return
    event.preventDefault()
    event.stopPropagation()
    // the address changes last, because it moves the focus and scrolls the page
    void Promise.all([import('../stores/navigation.ts'), scrollTo(target)]).then(([{ navigate }]) =>
      navigate(hash)
    )
  })
}

function scrollTo(target: HTMLElement): Promise<void> {
  const from = scrollY
  const margin = Number.parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 0
  const end = document.documentElement.scrollHeight - innerHeight
  const to = Math.min(end, Math.max(0, from + target.getBoundingClientRect().top - margin))
  const start = performance.now()
  return new Promise(resolve => {
    let last = from
    const step = () => {
      // ends when the person scrolls
      if (Math.abs(scrollY - last) > 2) return resolve()
      const share = Math.min(1, (performance.now() - start) / scrollMs)
      scroll({ top: from + (to - from) * ease(share), behavior: 'instant' })
      last = scrollY
      if (share < 1) requestAnimationFrame(step)
      else resolve()
    }
    requestAnimationFrame(step)
  })
}

// slows down at the end
function ease(share: number): number {
  return 1 - (1 - share) ** 3
}
