import { createMemoryStore } from "../../lib/testing/memory-store.ts";
import { storeContract } from "./store.contract.ts";

storeContract("memory", async () => ({ store: createMemoryStore(), close: async () => undefined }));
