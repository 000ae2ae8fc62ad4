import { ExternalLink } from "lucide-react";
import { useState } from "react";
import { Picture, pictureOf } from "../../components/picture";
import { cn } from "../../lib/cn";
import { count } from "../../lib/format";

interface Image {
  url?: string;
  alt?: string;
}

/** What the product looks like: one large, the others to choose from; each with where it lies. */
export function Pictures({ productId, images }: { productId: string; images: Image[] }) {
  const [at, setAt] = useState(0);
  const image = images[at];
  if (!image) return null;
  return (
    <section aria-label="Pictures">
      <Picture
        key={at}
        src={pictureOf(productId, at, "large")}
        alt={image.alt || "Picture of the product"}
        explain
        className="aspect-4/3 max-h-80 w-full rounded-lg"
      />
      {images.length > 1 && (
        <ul className="mt-2 flex flex-wrap gap-2">
          {images.map((one, place) => (
            <li key={place}>
              <button
                type="button"
                aria-label={`Picture ${count(place + 1)} of ${count(images.length)}`}
                aria-pressed={place === at}
                onClick={() => setAt(place)}
                className={cn("block rounded", place === at && "outline-2 outline-offset-1 outline-accent")}
              >
                <Picture src={pictureOf(productId, place, "small")} alt={one.alt ?? ""} className="size-12" />
              </button>
            </li>
          ))}
        </ul>
      )}
      {image.url && (
        <a
          href={image.url}
          target="_blank"
          rel="noreferrer noopener"
          title={image.url}
          className="plain-link mt-2 flex items-center gap-1.5 text-xs"
        >
          <ExternalLink className="size-3.5 shrink-0" aria-hidden />
          <span className="truncate">{image.url}</span>
        </a>
      )}
    </section>
  );
}
