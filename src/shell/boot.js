// Part of every page. Runs before the first paint and after every navigation, because ClientRouter
// replaces the attributes of <html>: theme, drawer, and which parts CSS shows. The HTML of a page
// is the same for everybody.
;(() => {
  const root = document.documentElement

  /**
   * Installs the only Trusted Types policy. It allows script addresses below `/_astro/` on this
   * origin, and the HTML and inline scripts of a page that ClientRouter opens. It refuses all other
   * strings. The content security policy then decides by their hashes which inline scripts run.
   */
  function guard() {
    if (!window.trustedTypes || trustedTypes.defaultPolicy) return
    let page = ''
    const ofPage = text => (page.includes(`>${text}\x3c/script>`) ? text : null)
    trustedTypes.createPolicy('default', {
      createHTML(text, _type, sink) {
        if (sink === 'Element innerHTML') return ofPage(text)
        if (sink !== 'DOMParser parseFromString') return null
        page = text
        return text
      },
      createScript: ofPage,
      createScriptURL(address) {
        const { origin, pathname } = new URL(address, location.href)
        return origin === location.origin && pathname.startsWith('/_astro/') ? address : null
      }
    })
  }

  function apply() {
    const scheme = stored('vidimus:scheme')
    const session = isSignedIn() ? 'in' : 'out'
    set('fonts', stored('vidimus:fonts'))
    set('theme', { light: 'vidimus', dark: 'vidimus-dark' }[scheme])
    set('drawer', stored('vidimus:drawer') === 'rail' ? 'rail' : undefined)
    set('session', session)
    set('can', session === 'in' ? rights().join(' ') : undefined)
  }

  function set(name, value) {
    if (value) root.dataset[name] = value
    else delete root.dataset[name]
  }

  function isSignedIn() {
    const token = /(?:^|; )__Host-vidimus=([^;]+)/.exec(document.cookie)?.[1]
    try {
      const payload = token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/')
      // seconds by which this clock is ahead of the server's
      const ahead = Number(stored('vidimus:clock')) || 0
      return (JSON.parse(atob(payload)).exp + ahead) * 1000 > Date.now() + 1000
    } catch {
      return false
    }
  }

  function rights() {
    try {
      const { features, permissions } = JSON.parse(stored('vidimus:user'))
      return [...features, ...permissions]
    } catch {
      return []
    }
  }

  function stored(key) {
    try {
      return localStorage.getItem(key)
    } catch {
      return null
    }
  }

  guard()
  apply()
  document.addEventListener('astro:after-swap', apply)
  document.addEventListener('vidimus:changed', apply)
})()
