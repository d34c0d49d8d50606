import { Background, Controls, type Edge, MarkerType, MiniMap, type Node, ReactFlow, type ReactFlowInstance } from "@xyflow/react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";

import type { Drawing, Line } from "./drawing.ts";
import { HEIGHT, type Place, WIDTH } from "./layout.ts";
import { type Data, StepBox } from "./StepBox.tsx";
import { type Laid, useLayout } from "./useLayout.ts";

type BoxNode = Node<Data, "step">;

type Given = {
  drawing: Drawing;
  selected: string | null;
  onSelect: (step: string | null) => void;
  onFold: (key: string, folded: boolean) => void;
  /** What is to be said of single steps: added, removed, changed. */
  marks?: ReadonlyMap<string, string>;
};

const TYPES = { step: StepBox };
const NONE: ReadonlyMap<string, string> = new Map();

/** Steps and what leads where. It can be moved, looked at closely, and walked through with the keyboard. */
export function Graph({ drawing, selected, onSelect, onFold, marks = NONE }: Given) {
  const laid = useLayout(drawing);
  const [flow, setFlow] = useState<ReactFlowInstance<BoxNode> | null>(null);
  const fitted = useRef(false);
  const nodes = useMemo(() => (laid ? nodesOf(laid, selected, marks, onFold) : []), [laid, selected, marks, onFold]);
  const edges = useMemo(() => (laid ? laid.drawing.lines.map(edgeOf) : []), [laid]);
  useEffect(() => {
    if (flow === null || !nodes.length || fitted.current) return;
    fitted.current = true;
    requestAnimationFrame(() => void lookAtFirst(flow, nodes));
  }, [flow, nodes]);
  const click = useCallback((_: unknown, node: BoxNode) => onSelect(node.id), [onSelect]);
  return (
    <div className="graph" aria-busy={laid === null}>
      {laid === null && <p className="quiet">The graph is being laid out …</p>}
      <ReactFlow<BoxNode>
        nodes={nodes}
        edges={edges}
        nodeTypes={TYPES}
        onInit={setFlow}
        onNodeClick={click}
        onPaneClick={() => onSelect(null)}
        onSelectionChange={({ nodes: [chosen] }) => chosen && chosen.id !== selected && onSelect(chosen.id)}
        nodesDraggable={false}
        nodesConnectable={false}
        edgesFocusable={false}
        onlyRenderVisibleElements
        minZoom={0.05}
        maxZoom={2}
        aria-label="Graph of the plan"
      >
        <Background />
        <Controls showInteractive={false} />
        {nodes.length > 12 && <MiniMap<BoxNode> pannable zoomable nodeClassName={(node) => `mini-${node.data.box.state}`} />}
      </ReactFlow>
    </div>
  );
}

const BUSY: ReadonlySet<string> = new Set(["asking", "active", "failure", "retrying"]);

/** All of it, as far as it can be read; else what somebody wants to see first. */
async function lookAtFirst(flow: ReactFlowInstance<BoxNode>, nodes: readonly BoxNode[]): Promise<void> {
  await flow.fitView({ padding: 0.06, maxZoom: 1, minZoom: READABLE });
  if (flow.getZoom() > READABLE) return;
  const first = nodes.findLast((each) => BUSY.has(each.data.box.state) && !each.data.box.isGroup);
  const inner = first && flow.getInternalNode(first.id);
  if (!inner) return void flow.setViewport({ ...flow.getViewport(), y: MARGIN });
  const { x, y } = inner.internals.positionAbsolute;
  await flow.setCenter(x + WIDTH / 2, y + HEIGHT * 3, { zoom: READABLE });
}

const READABLE = 0.75;
const MARGIN = 24;

function nodesOf(laid: Laid, selected: string | null, marks: ReadonlyMap<string, string>, fold: Data["fold"]): BoxNode[] {
  return laid.drawing.boxes.flatMap((box) => {
    const place = laid.places.get(box.key);
    return place ? [nodeOf(box, place, box.key === selected, marks.get(box.key) ?? "", fold)] : [];
  });
}

function nodeOf(box: Data["box"], place: Place, selected: boolean, mark: string, fold: Data["fold"]): BoxNode {
  return {
    id: box.key,
    type: "step",
    position: { x: place.x, y: place.y },
    width: place.width,
    height: place.height,
    ...(box.parent === null ? {} : { parentId: box.parent }),
    selected,
    data: { box, mark, fold },
    ariaLabel: `${box.kind} ${box.label}: ${box.state} ${box.note}`,
  };
}

function edgeOf(line: Line): Edge {
  return {
    id: line.id,
    source: line.from,
    target: line.to,
    label: line.label || undefined,
    className: `line-${line.kind}`,
    type: line.kind === "exit" ? "default" : "smoothstep",
    ...(line.kind === "exit" ? { sourceHandle: "out", targetHandle: "in" } : {}),
    markerEnd: { type: MarkerType.ArrowClosed },
    focusable: false,
    selectable: false,
  };
}
