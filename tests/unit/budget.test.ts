import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  assetBudgets,
  type BuildWeigher,
  cssBudgetOf,
  htmlBudgetOf,
  openBuildWeigher,
  pageBudgets,
  workerBudgets
} from '../../bench/weight.ts'

let scale: BuildWeigher
beforeAll(async () => {
  scale = await openBuildWeigher()
})
afterAll(() => scale.close())

test.each(Object.entries(pageBudgets))('/en%s keeps its budgets', async (path, budget) => {
  const page = await scale.weigh(path)
  expect(page.scripts, 'scripts').toBeLessThanOrEqual(budget)
  expect(page.html, 'HTML').toBeLessThanOrEqual(htmlBudgetOf(path))
  expect(page.css, 'CSS').toBeLessThanOrEqual(cssBudgetOf(path))
  if (budget <= 20) expect(page.hasIslands, 'React').toBe(false)
})

test('has a budget for every worker', () => {
  expect(Object.keys(scale.workers()).sort()).toEqual(Object.keys(workerBudgets).sort())
})

test.each(Object.entries(workerBudgets))('the %s worker keeps its budget', (name, budget) => {
  expect(scale.workers()[name]).toBeLessThanOrEqual(budget)
})

test('the command palette keeps its budget', async () => {
  const weight = await scale.palette()
  expect(weight).toBeGreaterThan(1)
  expect(weight).toBeLessThanOrEqual(assetBudgets.palette)
})

test('fonts for Latin text keep their budget', () => {
  expect(scale.fonts()).toBeGreaterThan(0)
  expect(scale.fonts()).toBeLessThanOrEqual(assetBudgets.fonts)
})
