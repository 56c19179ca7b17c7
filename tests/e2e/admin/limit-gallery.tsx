import { useState } from 'react'
import { createRoot } from 'react-dom/client'
import { AppError } from '../../../src/contract/kit/errors.ts'
import type { Locale, Messages } from '../../../src/i18n/index.ts'
import { withTranslation } from '../../../src/islands/kit/use-translation.ts'
import { LimitEditor } from '../../../src/islands/limits/LimitEditor.tsx'
import type { GroupLimits } from '../../../src/islands/limits/LimitFields.tsx'

/** All texts of both languages, which the bundler inserts. */
declare const catalogues: Record<Locale, Record<string, Messages>>

const example: GroupLimits = {
  max_requests: 1000,
  max_requests_interval: 'P1D',
  max_storage: 2_500_000_000
}

const used = {
  requests_used: 12,
  requests_remaining: 988,
  storage_used: 2_000_000_000,
  storage_remaining: 500_000_000,
  resets_at: '2026-05-04T00:00:00.000Z'
}

/** Shows three limit editors: one to read, one to change, and one whose changes fail. */
const LimitGallery = withTranslation(function LimitGallery() {
  const [limits, setLimits] = useState(example)
  const fail = async () => {
    throw new AppError('forbidden', 'This page changes nothing')
  }
  return (
    <div className="flex flex-col gap-6">
      <section className="sheet" data-example="shown">
        <LimitEditor limits={example} />
      </section>
      <section className="sheet" data-example="changed">
        <LimitEditor limits={limits} usage={used} update={async changed => setLimits(changed)} />
      </section>
      <section className="sheet" data-example="failing">
        <LimitEditor limits={example} update={fail} />
      </section>
    </div>
  )
})

const place = document.querySelector('#gallery')
const locale = document.body.dataset.locale === 'fr' ? 'fr' : 'en'
if (place) createRoot(place).render(<LimitGallery locale={locale} messages={catalogues[locale]} />)
