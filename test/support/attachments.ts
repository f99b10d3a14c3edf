import { randomBytes, randomUUID } from 'node:crypto';
import { fileChunks, files } from '../../src/tenant/files';
import type { OrganisationData } from '../../src/tenant/organisationData';
import type { Answer, Client } from './client';

/** A file of three chunks. */
export const PDF = Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(600_000)]);
export const named = (name: string): Record<string, string> => ({
  'content-disposition': `attachment; filename="${name}"`,
});
export const AS_PDF = { 'content-type': 'application/pdf', ...named('drawing.pdf') };

/** Attaches files to new objects of an organisation, and looks at what is stored. */
export function attaching(caller: Client, data: () => OrganisationData) {
  return {
    /** A product or request without attachments: its path. */
    newObject: async (resource: 'products' | 'requests', by: Client = caller): Promise<string> => {
      if (resource === 'requests')
        return `/requests/${String((await by.post('/requests', { text: 'Hello' })).body.id)}`;
      const { body } = await by.post('/products/bulk', { products: [{ sku: randomUUID(), name: 'Bolt' }] });
      return `/products/${String(body.results[0].id)}`;
    },
    attach: (
      path: string,
      body: Uint8Array | string = PDF,
      headers: Record<string, string> = AS_PDF,
      by: Client = caller,
    ): Promise<Answer> => by.send('POST', `${path}/attachments`, { body: body as BodyInit, headers }),
    /** How many files and chunks there are of an object. */
    stored: async (path: string): Promise<[number, number]> => {
      const owned = await data()
        .collection(files)
        .find({ 'metadata.object_id': path.split('/')[2] } as never)
        .toArray();
      const ids = owned.map(({ _id }) => _id);
      return [
        ids.length,
        await data()
          .collection(fileChunks)
          .countDocuments({ files_id: { $in: ids } }),
      ];
    },
  };
}
