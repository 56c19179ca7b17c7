import { useEffect } from 'react'
import { languageTag, localeNames, locales, localizedPath } from '../../i18n/index.ts'
import { useTranslation } from '../kit/use-translation.ts'

const schemes = ['system', 'light', 'dark'] as const

// the site's script reacts to these controls
export function Preferences() {
  const { locale, t } = useTranslation()
  // only the shell knows which scheme is chosen
  useEffect(() => {
    document.dispatchEvent(new Event('vidimus:changed'))
  }, [])
  return (
    <section className="sheet flex flex-col gap-4" aria-labelledby="preferences">
      <h2 id="preferences" className="section-title">
        {t('me.preferences')}
      </h2>
      <div>
        <p className="label-text" id="my-language">
          {t('shell.language')}
        </p>
        <ul className="choice-row" aria-labelledby="my-language">
          {locales.map(other => (
            <li key={other} className="choice-entry">
              <a
                href={localizedPath(other, '/me')}
                hrefLang={languageTag(other)}
                lang={languageTag(other)}
                data-locale={other}
                aria-current={other === locale ? 'true' : undefined}
              >
                {localeNames[other]}
              </a>
            </li>
          ))}
        </ul>
      </div>
      {/* a form of its own, or the radios would be one group with those of the drawer */}
      <form>
        <fieldset>
          <legend className="label-text">{t('shell.theme.label')}</legend>
          <div className="choice-row">
            {schemes.map(scheme => (
              <label key={scheme} className="choice-entry">
                <input type="radio" name="scheme" value={scheme} />
                <span>{t(`shell.theme.${scheme}`)}</span>
              </label>
            ))}
          </div>
        </fieldset>
      </form>
    </section>
  )
}
