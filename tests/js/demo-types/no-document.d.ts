/** web/host.js, which pages and workers share, asks whether there is one. */
declare var document: { baseURI: string } | undefined;
