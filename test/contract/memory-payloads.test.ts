import { createMemoryPayloads } from "../../lib/testing/memory-payloads.ts";
import { payloadsContract } from "./payloads.contract.ts";

payloadsContract("memory", async () => ({ payloads: createMemoryPayloads(), close: async () => undefined }));
