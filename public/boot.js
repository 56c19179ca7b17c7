// Runs before the first paint and after every page swap, because ClientRouter replaces the attributes
// of <html>: theme, drawer, and what CSS shows to whom. Pages themselves are the same for everybody.
;(() => {
  const root = document.documentElement

  function apply() {
    const scheme = stored('vidimus:scheme')
    const session = isSignedIn() ? 'in' : 'out'
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
      return JSON.parse(atob(payload)).exp * 1000 > Date.now() + 1000
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

  apply()
  document.addEventListener('astro:after-swap', apply)
  document.addEventListener('vidimus:changed', apply)
})()
