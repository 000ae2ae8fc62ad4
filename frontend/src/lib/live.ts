// One stream of events for the tab. Pages ask to hear; what changed is fetched again, at most twice a second.
import type { QueryClient } from "@tanstack/react-query";
import { useEffect, useSyncExternalStore } from "react";
import type { FullJob, Job, JobEvent } from "./api";
import { EventParser } from "./sse";

export type LiveState = "connecting" | "live" | "polling" | "reconnecting";
type Hear = (event: JobEvent | null) => void;

const TELL_EVERY_MS = 500;
const POLL_EVERY_MS = 3000;
const SILENCE_MS = 45_000;

class Live {
  state: LiveState = "connecting";
  private readonly stateListeners = new Set<() => void>();
  private readonly hearers = new Set<Hear>();
  private lastId: string | null = null;
  private stop: AbortController | null = null;
  private failures = 0;
  private retry: ReturnType<typeof setTimeout> | null = null;

  start(): void {
    if (this.stop) return;
    this.stop = new AbortController();
    void this.run(this.stop.signal);
  }

  end(): void {
    this.stop?.abort();
    this.stop = null;
    this.lastId = null;
    this.failures = 0;
    if (this.retry) clearTimeout(this.retry);
    this.become("connecting");
  }

  hear(act: Hear): () => void {
    this.hearers.add(act);
    return () => this.hearers.delete(act);
  }

  onState(tell: () => void): () => void {
    this.stateListeners.add(tell);
    return () => this.stateListeners.delete(tell);
  }

  private async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.connect(signal);
      } catch {
        // Whatever ended it, the way on is the same: wait a little and connect again.
      }
      if (signal.aborted) return;
      this.failures += 1;
      if (this.state !== "polling") this.become("reconnecting");
      await this.pause(
        this.state === "polling" ? POLL_EVERY_MS : Math.min(500 * 2 ** (this.failures - 1), 5000),
      );
      if (this.state === "polling") this.tell(null);
    }
  }

  private async connect(signal: AbortSignal): Promise<void> {
    const headers: Record<string, string> = { Accept: "text/event-stream" };
    if (this.lastId) headers["Last-Event-ID"] = this.lastId;
    const cut = new AbortController();
    const giveUp = () => cut.abort();
    signal.addEventListener("abort", giveUp);
    let silence = setTimeout(giveUp, SILENCE_MS);
    try {
      const response = await fetch("/api/events", { headers, signal: cut.signal });
      const streams = response.headers.get("Content-Type")?.startsWith("text/event-stream");
      if (!streams || !response.body) {
        // A proxy that buffers, or no room for another stream: looking now and then does as well.
        if (response.status < 500 || response.status === 503) this.become("polling");
        return;
      }
      const missed = this.failures > 0;
      this.failures = 0;
      this.become("live");
      if (missed) this.tell(null);
      const parser = new EventParser();
      const words = new TextDecoder();
      const reader = response.body.getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(silence);
        silence = setTimeout(giveUp, SILENCE_MS);
        for (const one of parser.feed(words.decode(value, { stream: true }))) {
          if (one.id) this.lastId = one.id;
          this.tell(JSON.parse(one.data) as JobEvent);
        }
      }
    } finally {
      clearTimeout(silence);
      signal.removeEventListener("abort", giveUp);
    }
  }

  private tell(event: JobEvent | null): void {
    for (const act of this.hearers) act(event);
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.retry = setTimeout(resolve, ms);
    });
  }

  private become(state: LiveState): void {
    if (this.state === state) return;
    this.state = state;
    for (const tell of this.stateListeners) tell();
  }
}

export const live = new Live();

export function useLiveState(): LiveState {
  return useSyncExternalStore(
    (tell) => live.onState(tell),
    () => live.state,
  );
}

/** Hear that a job changed (null: any may have), gathered into one call each half second. */
export function useChanges(act: (jobs: ReadonlySet<string> | null, events: JobEvent[]) => void): void {
  useEffect(() => {
    let jobs = new Set<string>();
    let events: JobEvent[] = [];
    let any = false;
    let timer: ReturnType<typeof setTimeout> | null = null;
    const flush = () => {
      timer = null;
      const told = any ? null : jobs;
      const heard = events;
      jobs = new Set();
      events = [];
      any = false;
      act(told, heard);
    };
    const leave = live.hear((event) => {
      if (event === null) any = true;
      else {
        if (event.jobId) jobs.add(event.jobId);
        if (events.length < 500) events.push(event);
      }
      timer ??= setTimeout(flush, TELL_EVERY_MS);
    });
    return () => {
      leave();
      if (timer) clearTimeout(timer);
    };
  }, [act]);
}

/** Progress goes into what is shown at once; what else changed is asked for. */
export function applyProgress(queries: QueryClient, events: JobEvent[]): void {
  const latest = new Map<string, JobEvent>();
  for (const event of events) {
    if (event.event === "job.progress" && event.jobId) latest.set(event.jobId, event);
  }
  for (const [id, event] of latest) {
    queries.setQueryData<FullJob>(["job", id], (job) => job && withProgress(job, event));
  }
}

function withProgress<J extends Job>(job: J, event: JobEvent): J {
  const told = event.data as Partial<Job["progress"]>;
  if ((told.percent ?? 0) < job.progress.percent) return job;
  return { ...job, progress: { ...job.progress, ...told } };
}
