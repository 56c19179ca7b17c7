import {
  $category,
  deleteCategory,
  openCategory,
  reloadCategory
} from '../../stores/admin/company-categories.ts'
import { RecentChanges } from '../audit/RecentChanges.tsx'
import { DeleteItem } from '../details/DeleteItem.tsx'
import { DetailFrame } from '../details/DetailFrame.tsx'
import { PasswordPrompt } from '../forms/PasswordPrompt.tsx'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'
import { CategoryGroups } from './CategoryGroups.tsx'
import { CategorySettings } from './CategorySettings.tsx'

export const CategoryDetail = withTranslation(function CategoryDetail() {
  const { locale, t } = useTranslation()
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
          <DeleteItem
            list="categories"
            name={category.names[locale]}
            words={(key, values) => t(`category.delete.${key}`, values)}
            uses={['deposits', 'groups', 'default']}
            usesWords={(use, count) => t(`category.delete.uses.${use}`, { count })}
            remove={() => deleteCategory(category)}
            reload={() => reloadCategory(category.id)}
          />
          <PasswordPrompt />
        </>
      )}
    </DetailFrame>
  )
})
