/** The floor: a route in bare Express 5, with nothing around it. */
import process from 'node:process';
import express from 'express';

const app = express();
app.get('/ping', (_request, response) => {
  response.json({ success: true, data: { status: 'ok' } });
});
app.listen(Number(process.env.PORT), '127.0.0.1');
