import { bootTestApp } from '../support/boot-test-app.ts';
import { readableLists } from '../support/readable-lists.ts';
import { describeAnyQuery } from './describe-any-query.ts';

describeAnyQuery(await readableLists(await bootTestApp()));
