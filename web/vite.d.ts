/** Types of vite.js. */

/** Vite's plugin type, as far as it is used: no need to have Vite for these types. */
export interface TernPlugin {
  name: string;
  config(): { optimizeDeps: { exclude: string[] } };
  configureServer(server: any): void;
}

/** For Vite's development server: leaves the package's files as they are. Builds need no plugin. */
export default function tern(): TernPlugin;
