/** Types of vite.js: of Vite's plugin type what is used, so that they need no Vite. */

export interface TernPlugin {
  name: string;
  apply: "serve";
  config(): { optimizeDeps: { exclude: string[] } };
  configureServer(server: any): void;
}

/** For Vite's development server: leaves the package's files as they are. Builds need no plugin. */
export default function tern(): TernPlugin;
