import type { Environment } from './environment.ts'

/** Tabs of one browser, of which one works for all. */
export interface TabGroup {
  /** Tells the followers; a follower says nothing. */
  say(news: unknown): void
  leave(): void
}

interface TabGroupOptions {
  /** The lock and the channel: `vidimus:stream:docs.acme.fr:<user>`. */
  name: string
  environment: Pick<
    Environment,
    'now' | 'after' | 'openChannel' | 'holdLock' | 'isVisible' | 'onWake' | 'onHide'
  >
  /** This tab works from now on; the answer ends it. */
  lead: () => () => void
  /** Another tab works. */
  follow: () => void
  /** What the leader says. */
  onNews: (news: unknown) => void
  /** What a leader tells a tab that has just joined. */
  greeting: () => unknown
}

/** A leader speaks every 15 to 30 seconds: one that is silent for longer is frozen or lost. */
const silenceMs = 40_000

type Message = { from: 'leader'; news: unknown } | { from: 'follower' }

/**
 * Joins the tabs of this browser under `name`. The one with the lock leads; a visible follower takes
 * the lock away from a leader that has fallen silent. A hidden page in the browser's cache takes no part.
 */
export function joinTabGroup({
  name,
  environment,
  lead,
  follow,
  onNews,
  greeting
}: TabGroupOptions): TabGroup {
  const { now, after, isVisible } = environment
  let stopWork: (() => void) | undefined
  let release: () => void = () => {}
  let stopWatch: () => void = () => {}
  let heardAt = now()
  let isAway = false

  const channel = environment.openChannel(name, message => {
    if (!isMessage(message) || isAway) return
    if (message.from === 'follower') {
      say(greeting())
    } else if (!stopWork) {
      heardAt = now()
      onNews(message.news)
    }
  })

  function say(news: unknown): void {
    if (stopWork) channel.say({ from: 'leader', news })
  }

  function ask(steal: boolean): void {
    heardAt = now()
    release = environment.holdLock(name, {
      steal,
      onHeld() {
        stopWatch()
        stopWork = lead()
      },
      onWait() {
        follow()
        channel.say({ from: 'follower' })
        watch()
      },
      onLost() {
        rest()
        ask(false)
      }
    })
  }

  function rest(): void {
    stopWatch()
    const stop = stopWork
    stopWork = undefined
    stop?.()
  }

  /** Comes back as long as this tab follows, because a hidden one leaves a silent leader alone. */
  function watch(): void {
    stopWatch()
    stopWatch = after(Math.max(heardAt + silenceMs - now(), 1000), () => {
      if (!takeOver()) watch()
    })
  }

  function takeOver(): boolean {
    if (stopWork || now() - heardAt < silenceMs || !isVisible()) return false
    release()
    ask(true)
    return true
  }

  const stopWake = environment.onWake(() => {
    if (!isAway) return void takeOver()
    isAway = false
    ask(false)
  })
  const stopHide = environment.onHide(() => {
    isAway = true
    release()
    rest()
  })
  ask(false)

  return {
    say,
    leave() {
      isAway = true
      stopWake()
      stopHide()
      release()
      rest()
      channel.close()
    }
  }
}

/** The other tab may show the page of another release. */
function isMessage(value: unknown): value is Message {
  if (typeof value !== 'object' || value === null || !('from' in value)) return false
  return value.from === 'follower' || (value.from === 'leader' && 'news' in value)
}
