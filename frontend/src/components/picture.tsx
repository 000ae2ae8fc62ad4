import { useQuery } from "@tanstack/react-query";
import { ImageOff } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { send } from "../lib/api";
import { cn } from "../lib/cn";
import { makeTurns } from "../lib/turns";

const takeTurn = makeTurns(3);

type Size = "small" | "large";

export function pictureOf(productId: string, place: number, size: Size): string {
  return `/api/products/${productId}/images/${place}?size=${size}`;
}

type Stage = "away" | "loading" | "shown" | "failed";

/** A picture as the server fetched and made it. It is asked for once it is in sight and its turn. */
export function Picture({
  src,
  alt,
  explain,
  className,
}: {
  src: string;
  alt: string;
  /** Say why it cannot be shown, where there is room for it. */
  explain?: boolean;
  className?: string;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const [stage, setStage] = useState<Stage>("away");
  const leave = useRef<() => void>(() => undefined);
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    setStage("away");
    const seen = new IntersectionObserver((entries) => {
      if (!entries.some((one) => one.isIntersecting)) return;
      seen.disconnect();
      leave.current = takeTurn(() => setStage("loading"));
    });
    seen.observe(element);
    return () => {
      seen.disconnect();
      leave.current();
    };
  }, [src]);
  const end = (stage: Stage) => {
    leave.current();
    setStage(stage);
  };
  return (
    <div
      ref={frame}
      className={cn(
        "relative flex shrink-0 items-center justify-center overflow-hidden rounded border bg-sunken",
        className,
      )}
    >
      {stage === "failed" ? (
        <Failed src={src} alt={alt} explain={explain} />
      ) : (
        stage !== "away" && (
          <img
            src={src}
            alt={alt}
            className={cn("size-full bg-white object-contain", stage === "loading" && "opacity-0")}
            onLoad={() => end("shown")}
            onError={() => end("failed")}
          />
        )
      )}
    </div>
  );
}

function Failed({ src, alt, explain }: { src: string; alt: string; explain?: boolean }) {
  // Asked once more for the reason, which the server remembers.
  const why = useQuery({
    queryKey: ["picture", src],
    queryFn: async ({ signal }) => {
      await send(src, { signal });
      return null;
    },
    enabled: !!explain,
    retry: false,
    staleTime: 60_000,
  });
  if (!explain) {
    return <ImageOff className="size-3.5 text-ink-3" role="img" aria-label={alt && `${alt}: not shown`} />;
  }
  return (
    <div className="flex max-w-72 flex-col items-center gap-2 p-4 text-center text-sm text-ink-2">
      <ImageOff className="size-6 text-ink-3" aria-hidden />
      <p role="status">The picture cannot be shown.{why.error && ` ${(why.error as Error).message}`}</p>
    </div>
  );
}
