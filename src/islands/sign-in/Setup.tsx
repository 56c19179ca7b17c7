import { useStore } from '@nanostores/react'
import { useEffect, useState } from 'react'
import { $setup, loadSetup } from '../../stores/accounts/setup.ts'
import { keepUnsavedInput, takeUnsavedInput } from '../forms/page-drafts.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { lazyComponent } from '../kit/LazyComponent.tsx'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'
import { AlreadySetUp, SetupDone } from './SetupOutcome.tsx'

const SetupForm = lazyComponent(async () => (await import('./SetupForm.tsx')).SetupForm)

export const Setup = withTranslation(function Setup() {
  const { t } = useTranslation()
  const setup = useStore($setup, { ssr: 'initial' })
  const [code, setCode] = useState('')
  const [outcome, setOutcome] = useState<'none' | 'done' | 'demo-stays'>('none')
  const [demo, setDemo] = useState<string>()

  useEffect(() => {
    const opened = location.hash.slice(1) || String(takeUnsavedInput('code') ?? '')
    setCode(opened)
    history.replaceState(history.state, '', location.pathname + location.search)
    // makes links that copy the fragment read it again
    dispatchEvent(new HashChangeEvent('hashchange'))
    void loadSetup()
    return keepUnsavedInput('code', () => opened)
  }, [])

  if (outcome !== 'none') {
    return <SetupDone stays={outcome === 'demo-stays'} demo={demo} />
  }
  switch (setup.status) {
    case 'loading':
      return (
        <p className="sheet" role="status" data-state="loading">
          {t('common.loading')}
        </p>
      )
    case 'over':
      return <AlreadySetUp />
    case 'failed':
      return (
        <div className="sheet" data-state="error">
          <ErrorNote error={setup.error} retry={() => loadSetup()} />
        </div>
      )
    case 'open': {
      const { company, demo } = setup
      const finish = (wish: 'keep' | 'remove', left: 'none' | 'kept' | 'removed') => {
        setOutcome(wish === 'remove' && left === 'kept' ? 'demo-stays' : 'done')
        setDemo(left === 'kept' ? demo?.address : undefined)
      }
      return <SetupForm {...{ code, company, demo, finish }} />
    }
  }
})
