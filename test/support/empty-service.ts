/** Variables of a service without a database, which listens on loopback and logs nothing. */
export const emptyServiceVariables = {
  NODE_ENV: 'test',
  LOG_LEVEL: 'silent',
  HOST: '127.0.0.1',
  INTERNAL_PORT: '0',
  DATABASE_URL: 'none',
};

/** The configuration of a service without modules, on a free port. */
export const emptyConfig = { modules: [], server: { port: 0 } };
