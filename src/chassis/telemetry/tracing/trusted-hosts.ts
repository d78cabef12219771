import { BlockList, isIP, isIPv4 } from 'node:net';
import type { TrustedHosts } from './outgoing-requests.ts';

/** Stands in a list for names inside a cluster and private addresses. */
const internal = 'internal';
const clusterName = /^[^.:]+$|\.(svc|internal|cluster\.local)\.?$/i;
const privateNetworks = ['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '::1/128', 'fc00::/7'];

/**
 * Whether a host is in a comma list: `internal`, a name, a name with all below it as `.example.com`, an
 * address, a network as `10.0.0.0/8`, or `*` for all; `none` trusts no host. Decided by the name or address that is
 * called, not by what the name resolves to.
 */
export function trustedHosts(list: string): TrustedHosts {
  const entries = entriesOf(list).map((entry) => entry.toLowerCase());
  if (entries.includes('*')) return () => true;
  const hasInternal = entries.includes(internal);
  const networks = networksOf([
    ...entries.filter((entry) => entry.includes('/')),
    ...(hasInternal ? privateNetworks : []),
  ]);
  const names = new Set(entries.filter((entry) => entry !== 'none' && entry !== internal));
  const domains = [...names].flatMap((name) => (/^\*?\./.test(name) ? [name.replace('*', '')] : []));
  return (hostname) => {
    const host = hostname.toLowerCase();
    const version = isIP(host);
    if (names.has(host)) return true;
    if (version !== 0) return networks.check(host, version === 4 ? 'ipv4' : 'ipv6');
    return (hasInternal && clusterName.test(host)) || domains.some((domain) => host.endsWith(domain));
  };
}

function entriesOf(list: string): string[] {
  return list.split(',').map((entry) => entry.trim());
}

function networksOf(list: readonly string[]): BlockList {
  const networks = new BlockList();
  for (const entry of list) {
    const [address = '', bits] = entry.split('/');
    networks.addSubnet(address, Number(bits), isIPv4(address) ? 'ipv4' : 'ipv6');
  }
  return networks;
}
