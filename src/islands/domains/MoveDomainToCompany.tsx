import type { DomainDetails } from '../../contract/domains.ts'
import { required } from '../../core/input/validators.ts'
import en from '../../i18n/en/admin/moveDomain.json'
import fr from '../../i18n/fr/admin/moveDomain.json'
import { type Locale, type Translate, translator } from '../../i18n/index.ts'
import type { NamespaceKey } from '../../i18n/keys.ts'
import { moveDomainToCompany, reloadDomain } from '../../stores/admin/domains.ts'
import { findCompanies } from '../../stores/admin/item-search.ts'
import { navigate } from '../../stores/navigation.ts'
import { InPlaceEditor, InPlaceForm } from '../forms/InPlaceEditor.tsx'
import { NamedItemPicker, parseNamedItem } from '../forms/NamedItemPicker.tsx'
import { useForm } from '../forms/use-form.ts'
import { pageHref } from '../kit/page-href.ts'
import { Section } from '../kit/Section.tsx'
import { showMessage } from '../kit/show-message.ts'
import { useTranslation } from '../kit/use-translation.ts'

// part of the script, which is loaded only for operators
const catalogues = { en, fr }

function wordsOfMove(locale: Locale): Translate<NamespaceKey<'moveDomain'>> {
  return translator(locale, catalogues[locale])
}

interface DomainProps {
  domain: DomainDetails
}

export function MoveDomainToCompany({ domain }: DomainProps) {
  const { locale } = useTranslation()
  const say = wordsOfMove(locale)
  const { host, primary, state } = domain
  const isServed = state === 'verified' || state === 'failing'
  const note = say(isServed ? 'note' : 'unserved', { host })
  return (
    <Section id="move-domain" title={say('title')} note={primary ? say('primary') : note}>
      {!primary && (
        <InPlaceEditor label={say('open')}>
          {close => <MoveForm domain={domain} close={close} />}
        </InPlaceEditor>
      )}
    </Section>
  )
}

function MoveForm({ domain: { id, host }, close }: DomainProps & { close: () => void }) {
  const { locale } = useTranslation()
  const say = wordsOfMove(locale)
  const form = useForm({
    what: 'Moving the domain failed',
    rules: { company: required },
    codeErrors: { host_taken: { company: { rule: 'taken' } } },
    async send({ company: chosen }) {
      const to = parseNamedItem(chosen)
      if (!to) return
      const moved = await moveDomainToCompany(id, to.id)
      await navigate(pageHref(locale, 'domain', { company: to.id, domain: moved.id }), {
        replace: true
      })
      showMessage(say('done', { host, company: to.name }))
    },
    handle({ code }) {
      // so that the page shows what has become of the domain
      if (code === 'not_found') reloadDomain(id).catch(() => {})
      return false
    }
  })
  const fault = form.errors['company']
  return (
    <InPlaceForm
      form={form}
      submit={say('submit')}
      look="btn-error"
      className="max-w-lg gap-4"
      cancel={say('cancel')}
      close={close}
    >
      <NamedItemPicker
        legend={say('target')}
        name="company"
        label={say('search')}
        hint={say('hint')}
        error={fault && say(fault.rule === 'taken' ? 'claimed' : 'none')}
        find={findCompanies}
      />
    </InPlaceForm>
  )
}
