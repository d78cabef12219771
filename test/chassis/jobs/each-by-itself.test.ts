import { expect, it } from 'vitest';
import { eachByItself } from '../../../src/chassis/jobs/each-by-itself.ts';

async function* numbers(count: number) {
  for (let number = 1; number <= count; number += 1) yield number;
}

it('does the work for each record, and raises at the end what failed', async () => {
  const done: number[] = [];
  const work = async (number: number) => {
    done.push(number);
    if (number % 2 === 0) throw new RangeError(`no ${number}`);
  };
  const failed = await eachByItself(numbers(30), work).catch((error) => error);
  expect(done).toHaveLength(30);
  expect(failed).toMatchObject({ message: '15 records failed', cause: { message: 'no 2' } });
  expect(failed.errors).toHaveLength(10);
  await expect(eachByItself(numbers(1), work)).resolves.toBeUndefined();
});
