import { listPolicy, many, z } from 'slipway';

export const category = z
  .object({ id: z.uuid(), name: z.string().trim().min(1).max(100), createdAt: z.date(), updatedAt: z.date() })
  .meta({ id: 'Category' });

export const createCategory = category.pick({ name: true }).meta({ id: 'CreateCategory' });
export const updateCategory = createCategory.partial().meta({ id: 'UpdateCategory' });

export const product = z
  .object({
    id: z.uuid(),
    sku: z.string().trim().min(1).max(64),
    name: z.string().trim().min(1).max(200),
    description: z.string().max(10_000),
    price: z.int32().nonnegative().describe('in cents'),
    categoryId: z.uuid().toLowerCase(),
    createdAt: z.date(),
    updatedAt: z.date(),
  })
  .meta({ id: 'Product' });

export const createProduct = product.omit({ id: true, createdAt: true, updatedAt: true }).meta({ id: 'CreateProduct' });
export const updateProduct = createProduct.partial().meta({ id: 'UpdateProduct' });
export type CreateProduct = z.infer<typeof createProduct>;
export type UpdateProduct = z.infer<typeof updateProduct>;

export const categoryList = listPolicy('Category', {
  record: category,
  filter: { id: ['equals', 'in'], name: ['equals', 'contains', 'in'], products: many(() => productList) },
  sort: ['name', 'createdAt'],
  include: { products: many(() => productList) },
});

export const productList = listPolicy('Product', {
  record: product,
  filter: {
    id: ['equals', 'in'],
    sku: ['equals', 'in'],
    name: ['equals', 'contains'],
    price: ['equals', 'gte', 'lte', 'in', 'not'],
    categoryId: ['equals', 'in'],
    createdAt: ['gte', 'lte'],
    category: () => categoryList,
  },
  sort: ['name', 'price', 'createdAt', 'category.name'],
  include: { category: () => categoryList },
});
