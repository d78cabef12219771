import { bootTestApp } from '../support/boot-test-app.ts';
import { readableLists } from '../support/readable-lists.ts';
import { describeLists } from './describe-lists.ts';

describeLists(await readableLists(await bootTestApp()));
