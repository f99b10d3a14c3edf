import { ConfigError, readConfig } from '../../src/config';

/** The message about an environment that must be rejected. */
export function faultsOf(environment: Record<string, string>): string {
  try {
    readConfig(environment);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
  throw new Error('the environment was accepted');
}
