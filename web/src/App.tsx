import { RunList } from "./list/RunList.tsx";
import { Link } from "./parts/Link.tsx";
import { Questions } from "./questions/Questions.tsx";
import { usePlace } from "./route.ts";
import { RunPage } from "./run/RunPage.tsx";
import { Memory } from "./shelf/Memory.tsx";
import { Shelf, type ShelfOf } from "./shelf/Shelf.tsx";
import { StartPage } from "./start/StartPage.tsx";
import { useTheme } from "./theme.ts";

const SHELVES: { readonly [path: string]: ShelfOf } = {
  "/tools": { path: "tools", noun: "Tools", name: "name", about: "description" },
  "/agents": { path: "agents", noun: "Agents", name: "name", about: "role" },
  "/templates": { path: "templates", noun: "Templates", name: "name", about: "about" },
};

const PLACES: readonly [string, string][] = [
  ["/", "Runs"], ["/questions", "Questions"], ["/new", "Start"], ["/tools", "Tools"], ["/agents", "Agents"],
  ["/templates", "Templates"], ["/memory", "Memory"],
];

export function App() {
  const { pathname } = usePlace();
  const [theme, nextTheme] = useTheme();
  return (
    <>
      <a className="skip" href="#main">
        To the content
      </a>
      <nav aria-label="Main">
        <Link to="/" className="brand" label="Perdure: runs">
          Perdure
        </Link>
        {PLACES.map(([path, name]) => (
          <Link key={path} to={path} current={path === pathname}>
            {name}
          </Link>
        ))}
        <button type="button" className="theme" onClick={nextTheme} aria-label={`Colours: ${theme}. Change them`}>
          {theme === "dark" ? "☾" : theme === "light" ? "☀" : "◐"}
        </button>
      </nav>
      <div id="main" tabIndex={-1}>
        <Page path={pathname} />
      </div>
    </>
  );
}

function Page({ path }: { path: string }) {
  const run = /^\/runs\/([^/]+)\/?$/.exec(path)?.[1];
  const shelf = SHELVES[path];
  if (run !== undefined) return <RunPage key={run} run={decodeURIComponent(run)} />;
  if (shelf !== undefined) return <Shelf key={path} of={shelf} />;
  if (path === "/questions") return <Questions />;
  if (path === "/new") return <StartPage />;
  if (path === "/memory") return <Memory />;
  if (path === "/" || path === "/runs") return <RunList />;
  return (
    <main>
      <h1>There is nothing here</h1>
      <Link to="/">To the runs</Link>
    </main>
  );
}
