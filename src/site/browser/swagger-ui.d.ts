/** The part of swagger-ui that try.ts uses. The package has no types. */
declare module "swagger-ui-dist/swagger-ui-es-bundle.js" {
  interface SwaggerUi {
    preauthorizeApiKey(scheme: string, key: string): void;
  }
  export default function SwaggerUI(options: Record<string, unknown>): SwaggerUi;
}
