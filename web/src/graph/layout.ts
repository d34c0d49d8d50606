// Where the boxes stand. ELK works that out in a worker, so that the page never waits for it.

import ELK, { type ElkNode } from "elkjs/lib/elk-api.js";
import worker from "elkjs/lib/elk-worker.min.js?url";

import type { Box, Drawing } from "./drawing.ts";

export type Place = { readonly x: number; readonly y: number; readonly width: number; readonly height: number };
export type Places = ReadonlyMap<string, Place>;

export const WIDTH = 190;
export const HEIGHT = 54;

const OPTIONS = {
  "elk.algorithm": "layered",
  "elk.direction": "DOWN",
  "elk.hierarchyHandling": "SEPARATE_CHILDREN",
  "elk.layered.considerModelOrder.strategy": "NODES_AND_EDGES",
  "elk.layered.nodePlacement.strategy": "BRANDES_KOEPF",
  "elk.layered.spacing.nodeNodeBetweenLayers": "36",
  "elk.spacing.nodeNode": "24",
  "elk.spacing.componentComponent": "24",
  "elk.padding": "[top=44,left=16,bottom=16,right=16]",
};

let elk: InstanceType<typeof ELK> | undefined;

/** What the layout depends on, as a text: as long as it is the same, nothing has to be worked out anew. */
export function shapeOf(drawing: Drawing): string {
  const boxes = drawing.boxes.map((box) => `${box.key}<${box.parent ?? ""}${box.isGroup && !box.isFolded ? "*" : ""}`);
  return JSON.stringify([boxes, drawing.lines.map((line) => line.id)]);
}

export async function placesOf(drawing: Drawing): Promise<Places> {
  elk ??= new ELK({ workerFactory: () => new Worker(worker) });
  return gathered(await elk.layout(treeOf(drawing)));
}

function treeOf(drawing: Drawing): ElkNode {
  const nodes = new Map<string | null, ElkNode>([[null, { id: "root", layoutOptions: OPTIONS, children: [], edges: [] }]]);
  const parents = new Map<string, string | null>();
  for (const box of drawing.boxes) {
    const node = nodeOf(box);
    nodes.set(box.key, node);
    parents.set(box.key, box.parent);
    nodes.get(box.parent)?.children?.push(node);
  }
  for (const line of drawing.lines) {
    if (line.kind === "exit") continue; // a jump moves no step out of its row
    const parent = parents.get(line.from) ?? null;
    if (parent !== (parents.get(line.to) ?? null)) continue; // drawn, but nothing is placed by it
    nodes.get(parent)?.edges?.push({ id: line.id, sources: [`n${line.from}`], targets: [`n${line.to}`] });
  }
  for (const node of nodes.values()) sideBySide(node);
  return nodes.get(null) as ElkNode;
}

/** A few steps that need nobody stand beside each other; many fill a field. */
function sideBySide(node: ElkNode): void {
  const few = (node.children?.length ?? 0) <= FEW;
  if (few && node.layoutOptions) node.layoutOptions = { ...node.layoutOptions, "elk.separateConnectedComponents": "false" };
}

const FEW = 8;

function nodeOf(box: Box): ElkNode {
  const isOpen = box.isGroup && !box.isFolded;
  const inner = isOpen ? { layoutOptions: OPTIONS, children: [], edges: [] } : {};
  return { id: `n${box.key}`, width: WIDTH, height: HEIGHT, ...inner };
}

function gathered(root: ElkNode): Places {
  const found = new Map<string, Place>();
  const left = [...(root.children ?? [])];
  for (let node = left.pop(); node; node = left.pop()) {
    const { x = 0, y = 0, width = WIDTH, height = HEIGHT } = node;
    found.set(node.id.slice(1), { x, y, width, height });
    left.push(...(node.children ?? []));
  }
  return found;
}
