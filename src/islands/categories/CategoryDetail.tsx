import { $category, openCategory } from '../../stores/admin/company-categories.ts'
import { RecentChanges } from '../audit/RecentChanges.tsx'
import { DetailFrame } from '../details/DetailFrame.tsx'
import { PasswordQuestion } from '../forms/PasswordQuestion.tsx'
import { useWords, withWords } from '../kit/use-words.ts'
import { CategoryGroups } from './CategoryGroups.tsx'
import { CategorySettings } from './CategorySettings.tsx'
import { DeleteCategory } from './DeleteCategory.tsx'

/** Shows a category and changes it in place: its settings and the groups that may use it. */
export const CategoryDetail = withWords(function CategoryDetail() {
  const { locale, t } = useWords()
  return (
    <DetailFrame
      store={$category}
      open={openCategory}
      param="category"
      list="categories"
      missing={key => t(`category.missing.${key}`)}
      nameOf={({ names }) => names[locale]}
    >
      {category => (
        <>
          <CategorySettings category={category} />
          <CategoryGroups category={category} />
          <RecentChanges target={category.id} shown={[category]} />
          <DeleteCategory category={category} />
          <PasswordQuestion />
        </>
      )}
    </DetailFrame>
  )
})
