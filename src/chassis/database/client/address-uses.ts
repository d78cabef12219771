/** What the clients of one address have used of a database together. */
export interface AddressUse {
  /** How long they had places, in milliseconds, on a scale that all addresses share. */
  used: number;
}

const mostAddresses = 10_000;
/** Use of a database while nobody else was there delays who had it by this at most, in milliseconds. */
const mostLeadMs = 1000;

/** What the clients of each address have used of a database. */
export class AddressUses {
  readonly #addresses = new Map<string, AddressUse>();
  #used = 0;

  /** What the clients of an address have used, one of which asks now. */
  of(key: string): AddressUse {
    const address = this.#addresses.get(key) ?? this.#open(key);
    address.used = withinLead(address.used, this.#used);
    return address;
  }

  /** The turn of an address came that others waited for too. */
  began({ used }: AddressUse): void {
    this.#used = Math.max(this.#used, used);
  }

  #open(key: string): AddressUse {
    if (this.#addresses.size >= mostAddresses) this.#forget();
    const address = { used: 0 };
    this.#addresses.set(key, address);
    return address;
  }

  /** One that has used no more than a new one is as good as new. */
  #forget(): void {
    for (const [key, { used }] of this.#addresses) if (used <= this.#used) this.#addresses.delete(key);
    if (this.#addresses.size >= mostAddresses) this.#addresses.clear();
  }
}

/** What counts as used where work is asked for now: nobody saves up turns, or pays for long for those that nobody else wanted. */
export function withinLead(used: number, usedByAll: number): number {
  return Math.min(Math.max(used, usedByAll), usedByAll + mostLeadMs);
}
