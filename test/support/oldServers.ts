/** Lets a gateway or command of the tests accept an older server, if the environment of the tests does. */
export function oldServers(): Readonly<Record<string, string>> {
  const { ALLOW_OLD_MONGODB } = process.env;
  return ALLOW_OLD_MONGODB ? { ALLOW_OLD_MONGODB } : {};
}
