import classes from './example-answer.module.css'

/** Example of an answer with citations and their passages. */
export function ExampleAnswer() {
  return (
    <figure className={classes.frame}>
      <figcaption className={classes.caption}>Example answer</figcaption>
      <div className={classes.card}>
        <p className={classes.question}>How long can a tenant keep a spare key?</p>
        <p className={classes.answer}>
          Until the lease ends. The tenant may have one spare cut at their own cost<sup>1</sup> and
          hands every copy back on the day they move out<sup>2</sup>.
        </p>
        <ol className={classes.sources}>
          <li>
            <b>lease.pdf</b>
            <span>“…may have one additional key made at the tenant’s expense…”</span>
            <i>0.83</i>
          </li>
          <li>
            <b>house-rules.docx</b>
            <span>“All keys, copies included, are returned on the last day.”</span>
            <i>0.79</i>
          </li>
        </ol>
      </div>
      <pre className={classes.code}>
        <code>
          {'from openai import OpenAI\n'}
          {'client = OpenAI(\n'}
          {'  base_url='}
          <b>{`"${location.origin}/v1"`}</b>
          {',\n  api_key='}
          <b>"lk_…"</b>
          {',\n)'}
        </code>
      </pre>
    </figure>
  )
}
