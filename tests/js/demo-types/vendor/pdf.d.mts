/** For web/demo/vendor/pdf.mjs, which the site's build puts there. */
export * from "pdfjs-dist";
